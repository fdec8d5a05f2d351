export function writeArchive(folder: string, file: string, time: number): Promise<void>;
export function sha256(file: string): Promise<string>;
