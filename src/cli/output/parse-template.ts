import {ConfigError, isSystemCallError, messageOf, UsageError} from '../../base/errors.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import type {OutputFlagValues, OutputFormat, OutputFormatName} from './output-format.js';

type Language = 'go-template' | 'jsonpath' | 'custom-columns';

/** Template given on the command line, as text or as a file. */
interface TemplateRequest {
  readonly language: Language;
  readonly text: string;
  readonly isFile: boolean;
}

const OUTPUT = /^(go-template|jsonpath|custom-columns)(-file)?(?:=(.*))?$/s;

/**
 * Returns the format of `-o go-template=T`, `-o jsonpath=T`, `-o custom-columns=T`, their `-file=PATH` forms,
 * `--template T` or `--format T`; undefined if none is given. `formats` are those of the command. Rejects with
 * UsageError, ConfigError and TemplateError.
 */
export async function parseTemplateFormat<F extends OutputFormatName>(
  flags: OutputFlagValues,
  formats: readonly F[],
): Promise<OutputFormat<F> | undefined> {
  if (flags.format !== undefined) {
    const {parseFormatFlag} = await import('./format-flag.js');
    return await parseFormatFlag(flags, formats);
  }
  const request = await templateRequest(flags);
  return request === undefined ? undefined : await compile(request, flags['no-headers'] !== true);
}

async function templateRequest({output, template}: OutputFlagValues): Promise<TemplateRequest | undefined> {
  const [, language, file, text = template] = OUTPUT.exec(output ?? 'go-template') ?? [];
  if (language === undefined) {
    if (template !== undefined) throw new UsageError(`template can't be used with "${output ?? ''}" format`);
    return undefined;
  }
  if (text === undefined || text === '') {
    checkGiven(output);
    return undefined;
  }
  if (template !== undefined && text !== template)
    throw new UsageError('-o and --template contain different templates');
  const source = file === undefined ? text : await readTemplate(text);
  return {language: language as Language, text: source, isFile: file !== undefined};
}

/** Throws UsageError if `-o` is set, because its template is empty or missing. */
function checkGiven(output: string | undefined): void {
  if (output === undefined) return;
  const name = output.replace(/=$/, '');
  throw new UsageError(`output format "${output}" requires a template`, {
    hint: `use -o ${name}=${name === 'custom-columns' ? 'HEADER:PATH,…' : name.endsWith('-file') ? 'PATH' : 'TEMPLATE'}`,
  });
}

async function readTemplate(path: string): Promise<string> {
  try {
    return (await readBoundedFile(path)).toString();
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new ConfigError(`cannot read template "${path}": ${messageOf(error)}`, {cause: error});
  }
}

/** Compiles a template and loads only the language that it uses. */
async function compile(
  {language, text, isFile}: TemplateRequest,
  header: boolean,
): Promise<OutputFormat<never>> {
  switch (language) {
    case 'go-template': {
      const {compileGoTemplate} = await import('../../format/go-template/compile.js');
      return {kind: 'template', render: compileGoTemplate(text)};
    }
    case 'jsonpath': {
      const {compileJsonPath} = await import('../../format/jsonpath/compile.js');
      return {kind: 'template', render: compileJsonPath(text)};
    }
    case 'custom-columns': {
      const {compileColumns, parseColumns, parseColumnsFile} = await import('./custom-columns.js');
      return compileColumns(isFile ? parseColumnsFile(text) : parseColumns(text), {header});
    }
  }
}
