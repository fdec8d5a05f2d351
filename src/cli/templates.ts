import {readFile} from 'node:fs/promises';
import {ConfigError, isSystemCallError, messageOf, UsageError} from '../base/errors.js';
import type {FormFlags, TemplateForm} from './form.js';

type Language = 'go-template' | 'jsonpath';

/** A template that the command line gives or names. */
interface TemplateRequest {
  readonly language: Language;
  readonly text: string;
}

const OUTPUT = /^(go-template|jsonpath)(-file)?(?:=(.*))?$/s;

/**
 * The template that is asked for with `-o go-template=T`, `-o jsonpath=T`, their `-file=PATH` forms, or with
 * `--template T`; undefined when there is none. Throws UsageError, ConfigError and TemplateError.
 */
export async function templateForm(flags: FormFlags): Promise<TemplateForm | undefined> {
  const request = await templateRequest(flags);
  return request === undefined ? undefined : {kind: 'template', render: await compile(request)};
}

async function templateRequest({output, template}: FormFlags): Promise<TemplateRequest | undefined> {
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
    throw new UsageError('a template is given with -o and with --template');
  const source = file === undefined ? text : await readTemplate(text);
  return {language: language as Language, text: source};
}

/** Without -o nothing was asked for; with it the template's text is missing. */
function checkGiven(output: string | undefined): void {
  if (output === undefined) return;
  throw new UsageError(`the output format "${output}" needs a template`, {
    hint: `give it as -o ${output.replace(/=$/, '')}=…`,
  });
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new ConfigError(`reading the template "${path}": ${messageOf(error)}`, {cause: error});
  }
}

/** Loads no more than the language that is used. */
async function compile({language, text}: TemplateRequest): Promise<TemplateForm['render']> {
  if (language === 'go-template') {
    const {compileGoTemplate} = await import('../format/go-template/compile.js');
    return compileGoTemplate(text);
  }
  const {compileJsonPath} = await import('../format/jsonpath/compile.js');
  return compileJsonPath(text);
}
