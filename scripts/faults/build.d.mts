/** Compiles the programs of the fault campaign into a directory of the cache. Returns their paths. */
export function buildFaultPrograms(
  name: string,
): Promise<{readonly shard: string; readonly kubeletProcess: string}>;
