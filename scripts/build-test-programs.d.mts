/** Compiles TypeScript programs below test/ into the cache, each into one file. Returns their paths in the same order. */
export function buildTestPrograms(name: string, sources: readonly string[]): Promise<string[]>;
/** Compiles a program with all its packages, for scripts/faults/run-compiled.cjs. Returns its path. */
export function buildCompiledProgram(name: string, source: string): Promise<string>;
