export function withPlaces(source: string, file: string): string;
export function withErrorNames(source: string): string;
