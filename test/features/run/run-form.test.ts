import {describe, expect, test} from 'vitest';
import {tokenize} from '../../../src/cli/parsing/tokenize.js';
import {chooseRunForm, endsRunFlags, splitRunLine} from '../../../src/features/run/run-form.js';

const FLAGS = {tty: {type: 'boolean', char: 't'}} as const;

describe('the form of a run command', () => {
  const form = (line: string): unknown => {
    const argv = line.split(' ').filter((word) => word !== '');
    const isFile = (path: string): boolean => path === 'file';
    const flagsEndAfter = (before: readonly string[]): boolean => endsRunFlags(before, isFile);
    const {positionals} = tokenize(argv, FLAGS, {}, {flagsEndAfter});
    return chooseRunForm(splitRunLine(argv, positionals), isFile);
  };

  test.each([
    ['a.json b.yaml', {kind: 'files', container: 'a.json', pod: 'b.yaml'}],
    ['- /pod', {kind: 'files', container: '-', pod: '/pod'}],
    ['file ./pod -t', {kind: 'files', container: 'file', pod: './pod'}],
    ['busybox', {kind: 'image', image: 'busybox', words: []}],
    ['busybox -- a.json b.json', {kind: 'image', image: 'busybox', words: ['a.json', 'b.json']}],
    ['busybox -- sh -- x', {kind: 'image', image: 'busybox', words: ['sh', '--', 'x']}],
    ['busybox ls -l', {kind: 'image', image: 'busybox', words: ['ls', '-l']}],
    ['-t busybox -t cat -t file', {kind: 'image', image: 'busybox', words: ['cat', '-t', 'file']}],
    ['busybox a.json', {kind: 'image', image: 'busybox', words: ['a.json']}],
    ['busybox sh -- -c', {kind: 'image', image: 'busybox', words: ['sh', '--', '-c']}],
    ['busybox -- -t', {kind: 'image', image: 'busybox', words: ['-t']}],
    ['file -- sh', {kind: 'image', image: 'file', words: ['sh']}],
    ['file --', {kind: 'image', image: 'file', words: []}],
  ])('%s', (line, expected) => {
    expect(form(line)).toEqual(expected);
  });

  test.each([
    ['', 'no image or config files specified'],
    ['-- sh', 'no image or config files specified'],
    ['pod.yaml', '"pod.yaml" is a file: run takes an image, or a container config and a pod config'],
    ['a.json pod', '"pod" is not a config file'],
    ['./a pod', '"pod" is not a config file'],
    ['file sh', '"sh" is not a config file'],
    ['a.json b.json -- c', 'unexpected argument "c"'],
    ['a.json b.json c.json', 'unexpected argument "c.json"'],
  ])('%j is rejected', (line, message) => {
    expect(() => form(line)).toThrow(message);
  });
});
