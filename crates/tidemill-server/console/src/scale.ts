/**
 * The scroll bar of a list that is higher than browsers let an element be.
 *
 * Near both ends a pixel of the scroll bar is a pixel of the list; between them it stands for more. A short move is always
 * taken as it is, so that wheel and finger move by rows; a long one, as when the scroll bar is dragged, goes to the place in
 * proportion.
 */
export class Scale {
  constructor(
    readonly virtual: number,
    readonly view: number,
    limit = MOST_PIXELS,
  ) {
    this.real = Math.min(virtual, limit);
  }

  readonly real: number;

  get virtualEnd(): number {
    return Math.max(0, this.virtual - this.view);
  }

  get realEnd(): number {
    return Math.max(0, this.real - this.view);
  }

  /** The place in the list for a place of the scroll bar. */
  toVirtual(real: number): number {
    if (this.real === this.virtual) return real;
    const edge = this.realEnd * EDGE;
    if (real <= edge) return real;
    if (real >= this.realEnd - edge) return this.virtualEnd - (this.realEnd - real);
    return edge + ((real - edge) / (this.realEnd - 2 * edge)) * (this.virtualEnd - 2 * edge);
  }

  toReal(virtual: number): number {
    if (this.real === this.virtual) return virtual;
    const edge = this.realEnd * EDGE;
    if (virtual <= edge) return virtual;
    if (virtual >= this.virtualEnd - edge) return this.realEnd - (this.virtualEnd - virtual);
    return edge + ((virtual - edge) / (this.virtualEnd - 2 * edge)) * (this.realEnd - 2 * edge);
  }

  /** The new place in the list when the scroll bar moves from `before` to `now`. */
  move(top: number, before: number, now: number): number {
    if (this.real === this.virtual) return now;
    const step = now - before;
    const moved = Math.abs(step) < this.view ? top + step : this.toVirtual(now);
    return Math.min(this.virtualEnd, Math.max(0, moved));
  }
}

/** Firefox ends near 17.8 million pixels, Chromium near 33.5. */
const MOST_PIXELS = 8_000_000;

/** The part at each end where a pixel is a pixel. */
const EDGE = 0.02;
