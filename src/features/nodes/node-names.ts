import type {Column} from '../../format/table.js';
import type {NodeResult} from './node-result.js';

/** The node of each object of a list over several nodes. */
export class NodeNames {
  readonly #byObject = new WeakMap<object, string>();
  #hasNames = false;

  /** Returns the names of the nodes of the objects that `objectsOf` selects in each result. */
  static of<T>(results: readonly NodeResult<T>[], objectsOf: (value: T) => readonly object[]): NodeNames {
    const names = new NodeNames();
    for (const {node, value} of results) names.add(node, objectsOf(value));
    return names;
  }

  /** Adds the objects of a node. */
  add(node: string | undefined, objects: readonly object[]): void {
    if (node === undefined) return;
    this.#hasNames = true;
    for (const object of objects) this.#byObject.set(object, node);
  }

  /** Returns the node of an object; undefined if there is only one. */
  readonly nodeOf = (object: object): string | undefined => this.#byObject.get(object);

  /** Returns the column with the node of each row; none if there is only one. */
  columns<Row>(objectOf: (row: Row) => object): readonly Column<Row>[] {
    if (!this.#hasNames) return [];
    return [{header: 'NODE', value: (row) => this.nodeOf(objectOf(row)) ?? ''}];
  }
}
