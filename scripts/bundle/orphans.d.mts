export function removeOrphans(root: string): void;
