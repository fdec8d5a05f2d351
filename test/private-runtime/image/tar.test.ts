import {execFileSync} from 'node:child_process';
import {describe, expect, test} from 'vitest';
import {createTarArchive} from '../../../src/private-runtime/image/tar.js';

function listed(archive: Uint8Array): string[] {
  return execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--utc', '--file', '-'], {
    input: archive,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '));
}

describe('tarArchive', () => {
  test('files, directories and links with their modes are readable by tar', () => {
    const archive = createTarArchive([
      {type: 'directory', path: 'tmp', mode: 0o1777},
      {type: 'file', path: 'bin/run', mode: 0o755, data: Buffer.from('#!/bin/sh\n')},
      {type: 'file', path: 'empty', data: Buffer.from('')},
      {type: 'symlink', path: 'bin/go', target: 'run'},
    ]);
    expect(listed(archive)).toEqual([
      'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
      '-rwxr-xr-x 0/0 10 1970-01-01 00:00 bin/run',
      '-rw-r--r-- 0/0 0 1970-01-01 00:00 empty',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/go -> run',
    ]);
  });

  test.each([0, 1, 511, 512, 513])('a file of %i bytes is extracted unchanged', (size) => {
    const data = Buffer.alloc(size, 'x');
    const archive = createTarArchive([
      {type: 'file', path: 'file', data},
      {type: 'file', path: 'next', data: Buffer.from('next')},
    ]);
    const extract = (name: string): Buffer => execFileSync('tar', ['-xOf', '-', name], {input: archive});
    expect(extract('file')).toEqual(data);
    expect(extract('next').toString()).toBe('next');
  });

  test('a path of more than 100 bytes is split as in ustar', () => {
    const path = `${'d'.repeat(120)}/${'f'.repeat(90)}`;
    expect(listed(createTarArchive([{type: 'file', path, data: Buffer.from('x')}]))[0]).toContain(path);
  });

  test('a path too long for ustar is rejected', () => {
    expect(() => createTarArchive([{type: 'file', path: 'f'.repeat(101), data: Buffer.from('')}])).toThrow(
      RangeError,
    );
  });
});
