// The scene of the page, of which scene/static/scene.js draws the pictures.

const REPORTED = ["camera", "options", "drawing", "selected"]; // what the viewer learns

export default {
  props: ["page"],
  emits: ["scene"],
  render() {
    return Vue.h("div", { class: "scene-view" });
  },
  async mounted() {
    const { mountScene } = await import("/scene/static/scene.js");
    this.scene = mountScene(this.$el, {
      socketUrl: `/scene?page=${this.page}`,
      onEvent: (kind, value) => {
        if (REPORTED.includes(kind)) this.$emit("scene", { kind, value });
        if (kind === "model") this.$emit("scene", { kind, value: null });
      },
    });
  },
  unmounted() {
    this.scene?.dispose();
  },
  methods: {
    select(body) {
      this.scene?.select(body);
    },
    setCamera(pose) {
      this.scene?.setCamera(pose);
    },
    frame(body) {
      this.scene?.frame(body);
    },
    setOption(option) {
      this.scene?.setOption(option);
    },
    setDrawing(drawing) {
      this.scene?.setDrawing(drawing);
    },
  },
};
