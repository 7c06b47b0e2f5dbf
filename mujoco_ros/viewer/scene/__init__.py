"""The 3D scene of the page: MuJoCo's abstract scene, sent to browsers that draw it."""
