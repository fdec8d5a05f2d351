export function writeArchive(folder: string, file: string, time: number): Promise<void>;
