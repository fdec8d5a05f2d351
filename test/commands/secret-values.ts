import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect} from 'vitest';
import {hasErrno} from '../../src/base/errors.js';
import type {FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import type {CommandTestbed} from './command-testbed.js';

/** A runtime that repeats the command line and the environment of a container that it fails to start. */
export const ECHOING_RUNTIME = {
  behaviour: ({envs}, argv) => ({
    startError: JSON.stringify([argv, envs.map(({key, value}) => `${key}=${Buffer.from(value).toString()}`)]),
  }),
} satisfies FakeRuntimeOptions;

/** Returns a Secret as JSON. */
export function aSecret(name: string, stringData: Readonly<Record<string, string>>): string {
  return JSON.stringify({apiVersion: 'v1', kind: 'Secret', metadata: {name}, stringData});
}

/** Resolves with everything that kcri stores under the root directory, except for the pods' volumes. */
export async function readStoredState({rootDir}: Pick<CommandTestbed, 'rootDir'>): Promise<string> {
  try {
    const files = await readdir(rootDir, {recursive: true, withFileTypes: true});
    const stored = files.filter((file) => file.isFile() && !file.parentPath.includes('/volumes/'));
    const texts = await Promise.all(
      stored.map(async (file) => readFile(join(file.parentPath, file.name), 'utf8')),
    );
    return texts.join('\n');
  } catch (error) {
    // A running kubelet has replaced a file or removed a directory meanwhile.
    if (hasErrno(error, 'ENOENT')) return await readStoredState({rootDir});
    throw error;
  }
}

/** Expects that a text contains none of the values, whether plain, quoted or encoded. */
export function expectNoSecret(text: string, values: readonly string[]): void {
  const forms = values.flatMap((value) => {
    const quoted = JSON.stringify(value).slice(1, -1);
    return [value, quoted, JSON.stringify(quoted).slice(1, -1), Buffer.from(value).toString('base64')];
  });
  const lines = text.split('\n').filter((line) => forms.some((form) => line.includes(form)));
  expect(lines).toEqual([]);
}
