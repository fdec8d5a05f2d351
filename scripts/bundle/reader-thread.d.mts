export function readerThreadText(root: string): Promise<string>;
