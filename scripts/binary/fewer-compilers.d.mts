export declare const OF_LISTS: ReadonlySet<string>;
export declare function withoutLastCompiler(source: string): string;
