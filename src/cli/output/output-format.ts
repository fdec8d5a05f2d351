import type {Json} from '../../format/json.js';

/** Names of the output formats other than templates. */
export type OutputFormatName = 'table' | 'wide' | 'name' | 'json' | 'yaml';

/**
 * Parsed output format: a format of the command, a template, or rows. With `encodesLikeGo`, inspected objects have the
 * artifacts of Go's JSON encoder: numbers beyond 2^53 lose precision, and `<`, `>` and `&` are escaped.
 */
export type OutputFormat<F extends OutputFormatName> = Kind<F> | TemplateFormat | RowFormat;

/** Union member for each format, so that comparisons narrow the type. */
type Kind<F extends OutputFormatName> = F extends OutputFormatName
  ? {readonly kind: F; readonly encodesLikeGo?: boolean}
  : never;

/** Compiled template. Rendering throws TemplateError if it does not match the data. */
export interface TemplateFormat {
  readonly kind: 'template';
  readonly encodesLikeGo?: boolean;
  readonly render: (json: Json) => string;
}

/** Custom columns or `--format`: text for each item of a list, or for a single object. */
export interface RowFormat {
  readonly kind: 'rows';
  readonly encodesLikeGo?: boolean;
  /** Returns the lines of rows, below the headers if they are the first ones. Throws TemplateError. */
  readonly render: (rows: readonly Json[]) => string;
}

/** Parses `-o` and `--template` of a command; the first of `formats` is the default. Rejects with UsageError. */
export type OutputFormatParser = <F extends OutputFormatName>(
  command: string,
  flags: OutputFlagValues,
  formats: readonly F[],
) => Promise<OutputFormat<F>>;

/** Output format for any object. */
export type ObjectFormat = OutputFormat<'json' | 'yaml'>;

/** Values of the output flags. */
export interface OutputFlagValues {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly format?: string | undefined;
  readonly 'no-headers'?: boolean;
}
