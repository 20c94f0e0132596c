// Copies as the mock makes them: nothing is copied but the time passes, and a table of the target's name is listed afterwards.

/** Rows written a second, and how long they are verified. */
const SPEED = 4_000;
const VERIFY_SECONDS = 1.6;
/** A statement with the word `slow`, and a table that is long, take their time. */
const SLOW_SPEED = 150_000;
/** How long a copy still runs that was told to stop. */
const STOP_SECONDS = 0.3;

export class MockCopies {
  #copies = [];
  #number = 0;

  /** `rows` is how many the source has; `made` is called once they are copied. */
  start(order, rows, made) {
    const source = order.source.table ?? order.source.sql;
    const slow = rows > 100_000 || /\bslow\b/i.test(source);
    const copy = {
      id: String(++this.#number), source, target: `${order.target.schema}.${order.target.name}`, began: performance.now(),
      rows, speed: slow ? SLOW_SPEED : SPEED, verify: order.verify, columns: order.columns, fails: /\bfails\b/i.test(source),
      expected: order.source.table ? rows : null, stopped: null, made,
    };
    this.#copies.unshift(copy);
    return this.#state(copy);
  }

  list() {
    return this.#copies.map((copy) => this.#state(copy));
  }

  /** Stops a copy that runs, or forgets it. */
  end(id) {
    const copy = this.#copies.find((one) => one.id === id);
    if (copy && this.#state(copy).state === "running") {
      copy.stopped ??= performance.now();
      return this.#state(copy);
    }
    this.#copies = this.#copies.filter((one) => one !== copy);
    return null;
  }

  #state(copy) {
    const stopped = copy.stopped !== null && performance.now() > copy.stopped + 1000 * STOP_SECONDS;
    const end = copy.stopped === null ? performance.now() : Math.min(performance.now(), copy.stopped + 1000 * STOP_SECONDS);
    const writes = copy.rows / copy.speed;
    const passed = (end - copy.began) / 1000;
    const failed = copy.fails && passed > 0.5;
    const seconds = Math.min(passed, failed ? 0.5 : writes + VERIFY_SECONDS);
    const done = !failed && copy.stopped === null && seconds === writes + VERIFY_SECONDS;
    const rows = Math.min(copy.rows, Math.floor(seconds * copy.speed));
    if (done) {
      copy.made?.();
      copy.made = null;
    }
    return {
      id: copy.id, source: copy.source, target: copy.target, state: failed ? "failed" : stopped ? "stopped" : done ? "done" : "running",
      rows, expected: copy.expected, bytes: done ? 40 * rows : null, seconds,
      compared_columns: done && copy.verify === "full" ? copy.columns : null,
      error: failed ? { sqlstate: "22001", message: 'column "NOTES": a value of 300 characters is too long for a field of 254', hint: "Copy into a format whose texts have any length: parquet" } : null,
    };
  }
}
