import type {Json, JsonObject} from '../../format/json.js';

/** Members of answers that list sandboxes and containers. */
const LISTS: ReadonlySet<string> = new Set(['containers', 'items']);

/** Keeps equal objects of lists once: a kubelet lists all of them each second, and most lists of a recording are equal. */
export class SharedObjects {
  readonly #known = new Map<string, Json>();

  /** Returns an answer whose listed objects are those of earlier answers, if they are equal. */
  share(answer: JsonObject): JsonObject {
    const entries = Object.entries(answer);
    if (!entries.some(([name]) => LISTS.has(name))) return answer;
    return Object.fromEntries(
      entries.map(([name, member]) => [
        name,
        LISTS.has(name) && Array.isArray(member)
          ? (member as readonly Json[]).map((item) => this.#once(item))
          : member,
      ]),
    );
  }

  #once(item: Json): Json {
    const text = JSON.stringify(item);
    const known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, item);
    return known ?? item;
  }
}
