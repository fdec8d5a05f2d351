export declare const LIST_MODULES: ReadonlySet<string>;
export declare function withoutFtl(source: string): string;
