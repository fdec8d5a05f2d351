import {describe, expect, test} from 'vitest';
import type {FileKeySelector} from '../../../../../../src/api/types/v1-selectors.js';
import type {EnvFile} from '../../../../../../src/kubelet/contract/pod-filesystem.js';
import {
  fileKeyRefValue,
  parseEnvFile,
  readEnvFiles,
  toParsedEnvFile,
} from '../../../../../../src/kubelet/managers/kuberuntime/config/env/env-files.js';
import {omitContainerField} from '../../../../../evidence/omit-field.js';
import {aContainer} from '../../../../../fakes/a-pod.js';

const LONG = 'x'.repeat(64 * 1024);

describe('an env file', () => {
  test.each([
    ["A='a'\nB='b'\n", 'B', 'b'],
    ["A='a'", 'A', 'a'],
    ["A='a'\r\nB='b'\r\n", 'B', 'b'],
    ["  \n# A='x'\n\t # y\n \tA='a'\n", 'A', 'a'],
    ["A='a' # comment\n", 'A', 'a'],
    ["A='a'# comment\n", 'A', 'a'],
    ["A=' a # b '", 'A', ' a # b '],
    ["A='a=b=c'", 'A', 'a=b=c'],
    ['A=\'$B ${C} \\n "q"\'', 'A', '$B ${C} \\n "q"'],
    ["A='one\n\n  # three'\nB='b'", 'A', 'one\n\n  # three'],
    ["A='one\nB='\nB='b'", 'B', 'b'],
    ["A='first'\nA='second'", 'A', 'first'],
    ["A='a'\nthe rest is not looked at", 'A', 'a'],
    ["A= 'a'\nB='b'", 'B', 'b'],
    ["A= 'a'", 'A', ''],
    ["A=''", 'A', ''],
    ["A='a'", 'B', ''],
    ['', 'A', ''],
  ])('%j has for the key %s the value %j', (content, key, value) => {
    expect(parseEnvFile(content).values.get(key) ?? '').toBe(value);
  });

  test.each([
    ["A='a'\nnonsense\nB='b'", "invalid environment variable format at line 2: missing '='"],
    ["='a'\nB='b'", 'invalid environment variable format at line 1: empty variable name'],
    ["A ='a'", "invalid environment variable format at line 1: whitespace before '=' is not allowed"],
    ['B=b', 'invalid environment variable format at line 1: value must be enclosed in single quotes'],
    ['B="b"', 'invalid environment variable format at line 1: value must be enclosed in single quotes'],
    ['B=', 'invalid environment variable format at line 1: value must be enclosed in single quotes'],
    [
      "A=''\nB='b''c'",
      'invalid environment variable format at line 2: unexpected content after closing quote',
    ],
    ["B='b\nc'd", 'invalid environment variable format at line 2: unexpected content after closing quote'],
    ["A='a'\nB='b\nc", 'invalid environment variable format starting at line 2: unclosed single quote'],
    [`A='a'\nB='${LONG}'`, 'line 2 is longer than 65535 bytes'],
  ])('%j is rejected', (content, message) => {
    expect(parseEnvFile(content).syntaxError).toBe(message);
    expect(parseEnvFile(content).values.has('B')).toBe(false);
  });

  test('with 80,000 lines is parsed within the time limit', () => {
    const names = Array.from({length: 80_000}, (_, index) => `A${index}`);
    const content = names.map((name) => `${name}=''\n`).join('');

    expect([...parseEnvFile(content).values.keys()]).toEqual(names);
  });
});

describe('fileKeyRef', () => {
  const selector = {volumeName: 'v', path: 'a.env', key: 'A'};
  const value = (file: EnvFile | undefined, fields: Partial<FileKeySelector> = {}): string | undefined => {
    const fileKeyRef = {...selector, ...fields};
    omitContainerField({env: [{name: 'A', valueFrom: {fileKeyRef}}]});
    return fileKeyRefValue(fileKeyRef, new Map(file && [['v/a.env', toParsedEnvFile(file)]]));
  };
  const text = (content: string): EnvFile => ({kind: 'text', path: '/pods/v/a.env', content});

  test('returns the value of its key', () => {
    expect(value(text("A='a'"))).toBe('a');
  });

  test('requires a non-empty value unless it is optional', () => {
    for (const content of ["B='b'", "A=''"]) {
      expect(() => value(text(content))).toThrow(
        'environment variable key "A" not found in file "/pods/v/a.env"',
      );
      expect(value(text(content), {optional: true})).toBeUndefined();
    }
  });

  test('requires its volume even if it is optional', () => {
    expect(() => value(undefined, {optional: true})).toThrow(
      'cannot find the volume "v" referenced by FileKeyRef',
    );
  });

  test.each<[string, EnvFile, string]>([
    ['is readable', {kind: 'unreadable', reason: 'it is larger than 1 MiB'}, 'it is larger than 1 MiB'],
    ['is well-formed', text('A=hunter2'), 'value must be enclosed in single quotes'],
  ])(
    'requires a file that %s; the reason is in the hint, without the content of the file',
    (_title, file, reason) => {
      const error = (() => {
        try {
          return value(file, {optional: true});
        } catch (thrown) {
          return thrown;
        }
      })();

      expect(error).toMatchObject({
        message: "couldn't parse env file",
        hint: expect.stringContaining(reason) as string,
      });
      expect(JSON.stringify(error)).not.toContain('hunter2');
    },
  );

  test('is a placeholder in a plan', () => {
    expect(value({kind: 'planned'})).toBe('<A of the file a.env in the volume v>');
  });

  // Proves: EnvVarSource.fileKeyRef, FileKeySelector.volumeName
  test('reads a file once for all its keys, even if the container does not mount the volume', async () => {
    const read: string[] = [];
    const files = {
      readEnvFile: async (volume: string, path: string) => {
        read.push(`${volume}:${path}`);
        return text('');
      },
    };
    const container = aContainer({
      env: [
        {name: 'X', valueFrom: {fileKeyRef: selector}},
        {name: 'B', valueFrom: {fileKeyRef: {...selector, key: 'B'}}},
        {name: 'Y', valueFrom: {fileKeyRef: {...selector, volumeName: 'none'}}},
        {name: 'Z', value: 'z'},
      ],
    });

    const found = await readEnvFiles(
      files,
      container,
      new Map([['v', {hostPath: '/pods/v', readOnly: false}]]),
    );

    expect(read).toEqual(['/pods/v:a.env']);
    expect([...found.keys()]).toEqual(['v/a.env']);
  });
});
