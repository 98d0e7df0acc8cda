// A map of what this process remembers, for keys of which there may be any number.

/** Holds at most `max` entries: one more drops the one that was set the longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.#max) {
      const [oldest] = this.keys();
      this.delete(oldest as Key);
    }
    return super.set(key, value);
  }
}
