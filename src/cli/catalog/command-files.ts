import {readdirSync} from 'node:fs';
import {extname} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Config} from '@oclif/core/interfaces';
import type {BaseCommand} from '../command/base-command.js';
import type {CommandRun} from '../command/command-services.js';

/*
 * Finds commands by their files. In the bundle, which has no such files, a table of the same commands replaces this
 * module (scripts/bundle/replacements.mjs).
 */

/** Class of a command, as loaded by oclif and by main.ts. */
export type CommandClass = Pick<typeof BaseCommand, 'id' | 'summary' | 'description' | 'flags'> &
  (new (argv: string[], config: Config, run: CommandRun) => BaseCommand);

const FOLDER = new URL('../../commands/', import.meta.url);
const EXTENSION = extname(import.meta.url);

/** Returns the paths of all commands below commands/: their words separated by slashes, such as `runtime/up`. */
export function commandPaths(): readonly string[] {
  return (readdirSync(fileURLToPath(FOLDER), {recursive: true}) as string[])
    .filter((path) => path.endsWith(EXTENSION) && !path.endsWith('.d.ts'))
    .map((path) => path.slice(0, -EXTENSION.length));
}

/** Loads the module of a command by one of these paths. */
export async function loadCommand(path: string): Promise<{readonly default: CommandClass}> {
  return (await import(new URL(path + EXTENSION, FOLDER).href)) as {default: CommandClass};
}
