import {readdirSync} from 'node:fs';
import {extname} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Config} from '@oclif/core/interfaces';
import type {BaseCommand} from './base-command.js';

/*
 * The commands as they lie on the disk. In the bundle, where there are no such files, a table of the same commands
 * takes this module's place (scripts/bundle/replacements.mjs).
 */

/** A command class as oclif and we make them. */
export type CommandClass = Pick<typeof BaseCommand, 'id'> &
  (new (argv: string[], config: Config) => BaseCommand);

const FOLDER = new URL('../commands/', import.meta.url);
const EXTENSION = extname(import.meta.url);

/** The commands' words with slashes between, such as `runtime/up`: their files' paths below commands/. */
export function commandPaths(): readonly string[] {
  return (readdirSync(fileURLToPath(FOLDER), {recursive: true}) as string[])
    .filter((path) => path.endsWith(EXTENSION) && !path.endsWith('.d.ts'))
    .map((path) => path.slice(0, -EXTENSION.length));
}

/** A command's module, by one of these paths. */
export async function loadCommand(path: string): Promise<{readonly default: CommandClass}> {
  return (await import(new URL(path + EXTENSION, FOLDER).href)) as {default: CommandClass};
}
