export interface Loaded {
  readonly bytes: number;
  readonly outside: readonly string[];
  readonly modules: readonly string[];
}

export interface Graph {
  readonly inputs: Readonly<Record<string, {readonly imports: readonly {readonly path: string}[]}>>;
  /** Bytes of the bundle's modules. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly entry: string;
}

export function additions(budget: Loaded, now: Loaded, graph: Graph): readonly string[];
