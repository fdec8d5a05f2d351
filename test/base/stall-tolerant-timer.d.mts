/** Tells, each time it is asked, whether that long (ms) was waited since it was made. */
export function patience(ms: number): () => boolean;
