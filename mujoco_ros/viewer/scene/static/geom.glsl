// The light model of MuJoCo's renderer: OpenGL's fixed functions. Both shaders of a geom, see material.js.

varying vec3 vPoint, vNormal, vTexture, vSteady, vShadowed;
varying vec4 vTint, vShade;

#if !defined(VERTEX) || defined(GOURAUD)
  struct Light {
    vec3 position, direction, attenuation, ambient, diffuse, specular;
    vec2 cone;  // cosine of the cutoff, and exponent
  };
  uniform Light lights[LIGHT_SPACE];
  uniform vec3 eye;

  float power(float base, float exponent) {
    #ifdef CHEAP  // a curve with the same value and slope at 1 (Schlick 1994)
      return base / (exponent - exponent * base + base);
    #else
      return pow(base, exponent);
    #endif
  }

  // Shade: emission, specular, shininess, and whether the point receives shadows.
  void illuminate(vec3 point, vec3 normal, vec4 tint, vec4 shade, out vec3 steady, out vec3 shadowed) {
    steady = (shade.x + (LIGHT_COUNT > 0 ? 0.0 : 0.3)) * tint.rgb;
    shadowed = vec3(0.0);
    vec3 back = normalize(eye - point);
    vec3 ray, offset, sum;
    float strength, range, cosine, facing, shine;
    // Written out for each light by three.js: a loop takes twice as long in software.
    #pragma unroll_loop_start
    for (int i = 0; i < LIGHT_COUNT; i++) {
      ray = -lights[i].direction;
      strength = 1.0;
      #if ((DIRECTIONAL >> UNROLLED_LOOP_INDEX) & 1) == 0
        offset = lights[i].position - point;
        range = max(length(offset), 1e-6);
        ray = offset / range;
        cosine = dot(-ray, lights[i].direction);
        strength = cosine < lights[i].cone.x ? 0.0 : pow(max(cosine, 1e-6), lights[i].cone.y);
        strength /= dot(lights[i].attenuation, vec3(1.0, range, range * range));
      #endif
      facing = dot(normal, ray);
      sum = (lights[i].ambient + max(facing, 0.0) * lights[i].diffuse) * tint.rgb;
      if (facing > 0.0) {
        shine = max(dot(normal, normalize(ray + back)), 1e-6);
        sum += lights[i].specular * (shade.y * power(shine, shade.z));
      }
      #if SHADOW_LIGHT == UNROLLED_LOOP_INDEX
        if (shade.w > 0.5) shadowed += strength * sum; else
      #endif
      steady += strength * sum;
    }
    #pragma unroll_loop_end
    steady = min(steady, 1.0);
    shadowed = min(shadowed, 1.0);
  }
#endif

#ifdef VERTEX
  attribute vec2 cap;
  attribute vec3 place, size;
  attribute vec4 turn, tint, shade, pattern;

  vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
  vec3 scales() { return vec3(size.xy, mix(size.z, 0.5 * (size.x + size.y), cap.x)); }

  void main() {
    vPoint = place + turned(position * scales() + vec3(0.0, 0.0, cap.y * size.z));
    vNormal = turned(normal / scales());
    vTint = tint;
    vShade = shade;
    #if TEXTURE == 3
      vTexture = position * pattern.xyz;
    #elif TEXTURE == 2
      vTexture = vec3(position.xy * pattern.xy + pattern.zw, 0.0);
    #else
      vTexture = vec3(uv * pattern.xy + pattern.zw, 0.0);
    #endif
    #ifdef GOURAUD
      illuminate(vPoint, normalize(vNormal), vTint, vShade, vSteady, vShadowed);
    #endif
    gl_Position = projectionMatrix * viewMatrix * vec4(vPoint, 1.0);
  }
#else
  uniform sampler2D map;
  uniform samplerCube cube;
  uniform vec3 fogColour;
  uniform vec2 fogRange;  // start and end [m]
  uniform float far;
  #if SHADOW_LIGHT >= 0
    uniform mat4 lightView;  // from the world to the shadow map
    uniform highp sampler2DShadow shadowMap;
  #endif

  void main() {
    #ifdef UNLIT
      vec3 steady = vTint.rgb, shadowed = vec3(0.0);
    #elif defined(GOURAUD)
      vec3 steady = vSteady, shadowed = vShadowed;
    #else
      vec3 steady, shadowed;
      illuminate(vPoint, normalize(vNormal), vTint, vShade, steady, shadowed);
    #endif
    #if TEXTURE == 3
      vec4 texel = texture(cube, vTexture);
    #elif TEXTURE > 0
      vec4 texel = texture2D(map, vTexture.xy);
    #else
      vec4 texel = vec4(1.0);
    #endif
    vec3 colour = steady * texel.rgb;
    #if SHADOW_LIGHT >= 0
      vec4 seen = lightView * vec4(vPoint, 1.0);
      vec3 at = seen.xyz / seen.w * 0.5 + 0.5;
      bool inside = all(greaterThan(at, vec3(0.0))) && all(lessThan(at, vec3(1.0)));
      float open = inside ? texture(shadowMap, at) : 1.0;
      colour += open * shadowed * texel.rgb;
    #endif
    colour = min(colour, 1.0);
    #if defined(FOG) || MODE == 2
      float depth = -(viewMatrix * vec4(vPoint, 1.0)).z;
    #endif
    #ifdef FOG
      colour = mix(fogColour, colour, clamp((fogRange.y - depth) / (fogRange.y - fogRange.x), 0.0, 1.0));
    #endif
    #if MODE == 0
      gl_FragColor = vec4(colour, vTint.a * texel.a);
    #elif MODE == 1
      gl_FragColor = vec4(vTint.rgb, 1.0);
    #else
      gl_FragColor = vec4(vec3(depth / far), 1.0);
    #endif
  }
#endif
