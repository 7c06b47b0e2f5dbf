// Stands in for the view of the scene, and draws nothing: panels are tested without pictures.
export class View {
  constructor(canvas) {
    const again = (loop) => { loop(); requestAnimationFrame(() => again(loop)); };
    this.renderer = { domElement: canvas, setAnimationLoop: again };
    this.drawing = { apply() {}, reassign() {}, pending: false };
    this.quality = 1;
  }

  setModel() {}
  setFlags() {}
  setQuality() {}
  resize() {}
  draw() {}
  dispose() {}
}
