// Samples of curves, and how they are drawn.

const KEPT_S = 60;

export const decimals = (step) => Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));

export class Series {
  count = 0;
  times = new Float64Array(1024);
  values = new Float32Array(1024);
  index(time) { // of the first sample that is not earlier
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  at(time) {
    return this.values[this.index(time + 1e-6) - 1] ?? NaN;
  }
  add(begin, offsets, values) { // samples from these times on are replaced
    this.count = this.index(begin + offsets[0]);
    if (this.count + offsets.length > this.times.length) {
      const first = this.index(begin - KEPT_S);
      const size = Math.max(this.times.length, 2 * (this.count - first + offsets.length));
      for (const name of ["times", "values"]) {
        const kept = this[name].subarray(first, this.count);
        this[name] = new this[name].constructor(size);
        this[name].set(kept);
      }
      this.count -= first;
    }
    offsets.forEach((offset, index) => (this.times[this.count + index] = begin + offset));
    this.values.set(values, this.count);
    this.count += offsets.length;
  }
}

// Draws a curve; of more samples than pixels, the first, the extremes and the last of each column.
export function trace(context, series, [begin, end], x, y, width) {
  const first = Math.max(series.index(begin) - 1, 0);
  const last = Math.min(series.index(end) + 1, series.count);
  const isDense = last - first > 2 * width;
  let pen = false, column = null, of = [];
  const line = (at, value) => {
    if (!pen) context.moveTo(at, y(value));
    context.lineTo(at, y(value));
    pen = true;
  };
  const flush = () => {
    if (column !== null) for (const value of of) line(column, value);
    column = null;
  };
  context.beginPath();
  for (let i = first; i < last; i++) {
    const [at, value] = [x(series.times[i]), series.values[i]];
    if (Number.isNaN(value)) {
      flush();
      pen = false;
    } else if (!isDense) line(at, value);
    else if (column !== Math.round(at)) {
      flush();
      [column, of] = [Math.round(at), [value, value, value, value]];
    } else of = [of[0], Math.min(of[1], value), Math.max(of[2], value), value];
  }
  flush();
  context.stroke();
}

export function ticks(low, high, most) {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((part) => part * power).find((size) => size >= least);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return { digits: decimals(step), at: Array.from({ length: count }, (_, i) => (first + i) * step) };
}

export function limits(curves, [begin, end]) {
  let [low, high] = [Infinity, -Infinity];
  for (const { series } of curves)
    for (let i = series.index(begin); i < series.count && series.times[i] <= end; i++) {
      if (series.values[i] < low) low = series.values[i];
      if (series.values[i] > high) high = series.values[i];
    }
  if (!(low <= high)) [low, high] = [0, 0];
  // At least a thousandth, so that rounding errors do not look like motion
  const span = Math.max(high - low, 1e-3 * Math.max(1, Math.abs(low), Math.abs(high)));
  return [0.5 * (low + high) - 0.55 * span, 0.5 * (low + high) + 0.55 * span];
}
