/** The copies that the server makes: what is known of them, and the watch over those that run. */

import { copies, endCopy, startCopy, type Copy, type CopyOrder } from "./api";

export class Copies {
  all: Copy[] = [];
  /** Why the list is not up to date. */
  error: unknown = null;
  private timer: number | undefined;
  private asked = 0;

  constructor(
    private readonly changed: () => void,
    /** A copy is done: there is a table more. */
    private readonly made: () => void,
    private readonly announce: (text: string) => void,
  ) {}

  get running(): number {
    return this.all.filter(({ state }) => state === "running").length;
  }

  async refresh(): Promise<void> {
    window.clearTimeout(this.timer);
    const asking = ++this.asked;
    try {
      const found = await copies();
      // What was asked for before something was started or ended does not know of it.
      if (asking !== this.asked) return;
      this.error = null;
      this.take(found);
    } catch (error) {
      if (asking !== this.asked) return;
      this.error = error;
      this.changed();
      this.watch(FAILED_MS);
    }
  }

  async start(order: CopyOrder): Promise<Copy> {
    const copy = await startCopy(order);
    this.asked += 1;
    this.take([copy, ...this.all.filter(({ id }) => id !== copy.id)]);
    // A small copy may have ended before its answer was here.
    if (copy.state !== "running") this.tell([copy]);
    return copy;
  }

  /** Stops a copy that runs, or takes an ended one off the list. */
  async end({ id }: Copy): Promise<void> {
    const copy = await endCopy(id);
    this.asked += 1;
    this.take(copy ? this.all.map((one) => (one.id === id ? copy : one)) : this.all.filter((one) => one.id !== id));
  }

  private take(found: Copy[]): void {
    const ran = new Set(this.all.filter(({ state }) => state === "running").map(({ id }) => id));
    this.all = found;
    this.changed();
    this.tell(found.filter(({ id, state }) => ran.has(id) && state !== "running"));
    this.watch(POLL_MS);
  }

  private tell(ended: Copy[]): void {
    const texts = ended.map(({ target, state }) => (state === "done" ? `Copied to ${target}` : state === "stopped" ? `The copy to ${target} was stopped` : `The copy to ${target} failed`));
    if (texts.length > 0) this.announce(texts.join(". "));
    if (ended.some(({ state }) => state === "done")) this.made();
  }

  /** Nothing is asked while nothing runs. */
  private watch(wait: number): void {
    window.clearTimeout(this.timer);
    if (this.running > 0) this.timer = window.setTimeout(() => void this.refresh(), wait);
  }
}

const POLL_MS = 1000;
const FAILED_MS = 5000;
