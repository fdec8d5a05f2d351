import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import ts from 'typescript';

const SRC = new URL('../../src/', import.meta.url);

/**
 * Writes a module of src and all that it imports as JavaScript into `directory`, for tests that run it in another
 * process. Modules of packages are not included.
 */
export async function transpile(module: string, directory: string): Promise<void> {
  const modules = new Set([`${module}.js`]);
  // Visits the modules that are added meanwhile, too.
  for (const name of modules) {
    const source = await readFile(new URL(name.replace(/js$/, 'ts'), SRC), 'utf8');
    const {outputText} = ts.transpileModule(source, {
      compilerOptions: {module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022},
    });
    const path = join(directory, name);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, outputText);
    for (const {fileName} of ts.preProcessFile(outputText).importedFiles)
      if (fileName.startsWith('.')) modules.add(join(dirname(name), fileName));
  }
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
}
