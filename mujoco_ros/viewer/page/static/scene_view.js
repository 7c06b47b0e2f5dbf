// The scene of the page, of which scene/static/scene.js draws the pictures.

const REPORTED = ["camera", "options", "drawing", "selected"]; // what the viewer learns
const METHODS = ["select", "setCamera", "frame", "setOption", "setDrawing"]; // of the scene

export default {
  props: ["page"],
  emits: ["scene"],
  render() {
    return Vue.h("div", { class: "scene-view", role: "application", "aria-label": "3D view" });
  },
  async mounted() {
    const { mountScene } = await import("/scene/static/scene.js");
    this.scene = mountScene(this.$el, {
      socketUrl: `/scene?page=${this.page}`,
      above: 0.16, // buttons
      onEvent: (kind, value) => {
        if (REPORTED.includes(kind)) this.$emit("scene", { kind, value });
        if (kind === "model") this.$emit("scene", { kind, value: null });
      },
    });
  },
  unmounted() {
    this.scene?.dispose();
  },
  methods: Object.fromEntries(METHODS.map((name) => [name, function call(value) { this.scene?.[name](value); }])),
};
