import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import ts from 'typescript';

const SRC = new URL('../../src/', import.meta.url);

/** Writes modules of src as JavaScript into `directory`, for tests that run them in another process. */
export async function transpile(modules: readonly string[], directory: string): Promise<void> {
  for (const module of modules) {
    const source = await readFile(new URL(`${module}.ts`, SRC), 'utf8');
    const {outputText} = ts.transpileModule(source, {
      compilerOptions: {module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022},
    });
    const path = join(directory, `${module}.js`);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, outputText);
  }
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
}
