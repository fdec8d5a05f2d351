/** Compiles TypeScript programs below test/ into the cache, each into one file. Returns their paths in the same order. */
export function buildTestPrograms(name: string, sources: readonly string[]): Promise<string[]>;
