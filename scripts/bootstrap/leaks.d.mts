/** A process of the machine. */
export interface RunningProcess {
  readonly pid: number;
  readonly ppid: number;
  /** Its variables, each ended by a NUL character. */
  readonly environ: string;
  readonly command: string;
}

export interface Mount {
  readonly root: string;
  readonly path: string;
  readonly type: string;
}

export declare const RUN_VARIABLE: string;
export declare function listMachine(): string[];
export declare function parseMounts(text: string): Mount[];
export declare function findAdditions(before: readonly string[], after: readonly string[]): string[];
export declare function findProcessesOf(processes: readonly RunningProcess[], run: string): string[];
export declare function listProcessesOf(run: string): string[];
export declare function describeLeaks(leaks: readonly string[]): string[];
export declare function listLeaks(run: string, before: readonly string[]): Promise<string[]>;
