export declare function digestTree(root: string, paths: readonly string[]): string;
