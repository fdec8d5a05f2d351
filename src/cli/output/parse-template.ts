import {readFile} from 'node:fs/promises';
import {ConfigError, isSystemCallError, messageOf, UsageError} from '../../base/errors.js';
import type {OutputFlagValues, TemplateFormat} from './output-format.js';

type Language = 'go-template' | 'jsonpath';

/** Template given on the command line, as text or as a file. */
interface TemplateRequest {
  readonly language: Language;
  readonly text: string;
}

const OUTPUT = /^(go-template|jsonpath)(-file)?(?:=(.*))?$/s;

/**
 * Returns the template of `-o go-template=T`, `-o jsonpath=T`, their `-file=PATH` forms, or `--template T`; undefined
 * if none is given. Rejects with UsageError, ConfigError and TemplateError.
 */
export async function parseTemplateFormat(flags: OutputFlagValues): Promise<TemplateFormat | undefined> {
  const request = await templateRequest(flags);
  return request === undefined ? undefined : {kind: 'template', render: await compile(request)};
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
  return {language: language as Language, text: source};
}

/** Throws UsageError if `-o` is set, because its template is empty or missing. */
function checkGiven(output: string | undefined): void {
  if (output === undefined) return;
  throw new UsageError(`output format "${output}" requires a template`, {
    hint: `use -o ${output.replace(/=$/, '')}=TEMPLATE`,
  });
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new ConfigError(`cannot read template "${path}": ${messageOf(error)}`, {cause: error});
  }
}

/** Compiles a template and loads only the language that it uses. */
async function compile({language, text}: TemplateRequest): Promise<TemplateFormat['render']> {
  if (language === 'go-template') {
    const {compileGoTemplate} = await import('../../format/go-template/compile.js');
    return compileGoTemplate(text);
  }
  const {compileJsonPath} = await import('../../format/jsonpath/compile.js');
  return compileJsonPath(text);
}
