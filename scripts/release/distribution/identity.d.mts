export function packageVersion(version: string): string;
export function neededGlibc(file: string): Promise<string>;
