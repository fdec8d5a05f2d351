import {ConfigError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import type {Clock} from '../../base/clock.js';
import {formatCompactJson, parseJson, type Json} from '../../format/json.js';
import {escapeControls, escapeToLine} from '../../format/escape-controls.js';
import {readArchive, type ArchiveManifest, type NodeArchive} from './archive-file.js';

/** Saved node that commands read instead of a running one. */
export class SavedNode {
  readonly path: string;
  readonly manifest: ArchiveManifest;
  readonly #parts: NodeArchive['parts'];

  constructor(path: string, {manifest, parts}: NodeArchive) {
    this.path = path;
    this.manifest = manifest;
    this.#parts = parts;
  }

  /** Reads a file. Rejects with ConfigError, which names it. */
  static async open(path: string): Promise<SavedNode> {
    return new SavedNode(path, await readArchive(path));
  }

  /** Line that says which node and time are shown, and what the file lacks. */
  get summary(): string {
    const {node, takenAt, leftOut} = this.manifest;
    const lacks = leftOut.length === 0 ? '' : `; it lacks ${leftOut.join(', ')}`;
    return escapeToLine(`${this.path}: node ${node} as of ${takenAt}${lacks}`);
  }

  /** Reports whether the file has a part. */
  has(name: string): boolean {
    return Object.hasOwn(this.#parts, name);
  }

  /**
   * Returns a part of the file, with control characters escaped. `subject` names what it has. Throws ConfigError if it is
   * missing, or could not be read on the node. With `inJson`, control characters are also escaped in texts that are JSON, which
   * readers of the verbose information and annotations of a runtime parse.
   */
  part(
    name: string,
    subject: string,
    {inJson = false}: {readonly inJson?: boolean} = {},
  ): Readonly<Record<string, unknown>> {
    const part = this.#parts[name];
    if (!isObject(part)) throw this.lacks(subject);
    if (typeof part['error'] === 'string')
      throw this.unusable(`${subject} could not be read on the node: ${part['error']}`);
    try {
      return withoutControls(part, inJson) as Readonly<Record<string, unknown>>;
    } catch (error) {
      if (error instanceof RangeError) throw this.unusable(`its file ${name}.json is nested too deeply`);
      throw error;
    }
  }

  /** Returns the error of something that the file does not have, with the reason. */
  lacks(subject: string): ConfigError {
    const {kcri, leftOut} = this.manifest;
    const reason =
      leftOut.length === 0 ? `it was saved by kcri ${kcri}` : `it was saved without ${leftOut.join(', ')}`;
    return this.unusable(`it does not have ${subject}: ${reason}`);
  }

  /** Returns the error of a file that cannot be used. */
  unusable(reason: string): ConfigError {
    return new ConfigError(escapeToLine(`${this.path}: ${reason}`), {
      hint: 'save it again with "kcri doctor --save FILE" on the node; --max-size limits what is saved',
    });
  }
}

/** Returns a clock that shows the time at which a node was saved, and goes on from there: ages are those of then. */
export function clockOf(clock: Clock, {takenAt}: Pick<ArchiveManifest, 'takenAt'>): Clock {
  const at = Date.parse(takenAt);
  const shift = Number.isNaN(at) ? 0 : clock.now() - at;
  return {
    now: () => clock.now() - shift,
    monotonic: () => clock.monotonic(),
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal);
    },
  };
}

/** Escapes the control characters in all texts of plain data. Throws RangeError for data that is nested too deeply. */
function withoutControls(data: unknown, inJson: boolean): unknown {
  if (typeof data === 'string') return escapeControls(inJson ? withoutEscapedControls(data) : data);
  if (Array.isArray(data)) return data.map((item) => withoutControls(item, inJson));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [escapeControls(key), withoutControls(value, inJson)]),
  );
}

/** Escapes the control characters in a JSON object or list; returns any other text as it is. */
function withoutEscapedControls(text: string): string {
  const mayHave = /\\[ubfr]/.test(text) || escapeControls(text) !== text;
  if (!mayHave || !/^\s*[[{]/.test(text)) return text;
  try {
    return formatCompactJson(withoutControls(parseJson(text), true) as Json, {escapeHtml: false});
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
