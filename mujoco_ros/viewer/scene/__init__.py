"""The 3D scene of the page: MuJoCo's abstract scene, sent to browsers that draw it.

A view for a headset (WebXR) would use the same `View` of ``static/view.js``: its renderer calls
the loop of ``scene.js`` by ``setAnimationLoop``, which a session of WebXR takes over once
``renderer.xr.setSession`` has it. Then it has to

- pass the camera of the headset to ``View.draw`` in place of `PageCamera`: all that depends on the
  place of the camera is set there (infinite planes, haze, headlight), once for both pictures;
- put the group of the scene below a rig, to place and scale the world around the user: one unit is
  a metre, and z is up, while WebXR has y up;
- give the rays of the controllers to ``pick``, ``pull`` and ``handle`` of ``inputs.py``, which take
  any camera with a pixel, and points of the world;
- leave out ``Marks``, which draws on a canvas over the picture: texts and handles need geoms.

``drawShadow`` switches ``renderer.xr`` off while it draws, so shadows work in a session. Pictures
of the viewer (``pictures.py``) are no alternative there: they come too late for a head.
"""
