/** Tells, each time it is asked, whether that long (ms) was waited since it was made. */
export function stallTolerantTimer(ms: number): () => boolean;
