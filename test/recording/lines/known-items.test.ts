import {describe, expect, test} from 'vitest';
import {maskSecrets} from '../../../src/cli/redaction/mask-secrets.js';
import {isPlainName, isPlainText} from '../../../src/cli/redaction/plain-bytes.js';
import {decode, encode} from '../../../src/cri/codec.js';
import {containerId, podSandboxId} from '../../../src/cri/index.js';
import {toJson} from '../../../src/cri/proto-json.js';
import {JsonBuffer} from '../../../src/recording/lines/json-buffer.js';
import {MessageJson} from '../../../src/recording/lines/message-json.js';

const LIST = 'ListContainersResponse';

/** A container with an ID, labels that are longer than what is written again each time, and a secret. */
const aListed = (number: number, annotation: string) => ({
  id: containerId(String(number).padStart(64, '0')),
  podSandboxId: podSandboxId('f'.repeat(64)),
  metadata: {name: 'main', attempt: 0},
  labels: {'io.kubernetes.pod.uid': 'u'.repeat(200)},
  annotations: {first: annotation, password: 'hidden'},
});

const listOf = (...containers: readonly ReturnType<typeof aListed>[]): Buffer => encode(LIST, {containers});

/** Returns a writer that counts the texts that it has read. */
function countingWriter() {
  const target = new JsonBuffer();
  let texts = 0;
  const writer = new MessageJson(
    {
      mask: maskSecrets,
      isPlainText: (...span) => {
        texts += 1;
        return isPlainText(...span);
      },
      isPlainName,
    },
    target,
  );
  return {
    texts: () => texts,
    write: (bytes: Buffer): string => {
      writer.write(LIST, bytes);
      return target.take().toString();
    },
  };
}

const slowJson = (bytes: Buffer): string => JSON.stringify(maskSecrets(toJson(LIST, decode(LIST, bytes))));

describe('a list that is written again', () => {
  test('has the same text without being read, in any order', () => {
    const writer = countingWriter();
    const [a, b] = [aListed(1, 'x'), aListed(2, 'y')];
    expect(writer.write(listOf(a, b))).toBe(slowJson(listOf(a, b)));
    const before = writer.texts();
    expect(writer.write(listOf(b, a))).toBe(slowJson(listOf(b, a)));
    expect(writer.texts()).toBe(before);
  });

  test.each([
    ['another text of the same length', 'X'],
    ['a longer text', 'longer'],
  ])('has %s of an item that has changed', (_, changed) => {
    const writer = countingWriter();
    writer.write(listOf(aListed(1, 'x'), aListed(2, 'y')));
    const list = listOf(aListed(1, changed), aListed(2, 'y'));
    expect(writer.write(list)).toBe(slowJson(list));
    expect(writer.write(list)).toBe(slowJson(list));
  });

  test('has the same text without its short items being read, if all are as before', () => {
    const writer = countingWriter();
    const short = Array.from({length: 20}, (_, number) => ({...aListed(number, 'x'), labels: {}}));
    const list = encode(LIST, {containers: short});
    expect(writer.write(list)).toBe(slowJson(list));
    const before = writer.texts();
    expect(writer.write(list)).toBe(slowJson(list));
    expect(writer.texts()).toBe(before);
  });

  test('has the same text when what is remembered exceeds its limit', () => {
    const writer = countingWriter();
    // Two copies of a text of 60 KB each: a hundred items have 12 MB.
    const containers = Array.from({length: 100}, (_, number) => aListed(number, 'z'.repeat(60_000)));
    const list = listOf(...containers);
    expect(writer.write(list)).toBe(slowJson(list));
    const before = writer.texts();
    expect(writer.write(list)).toBe(slowJson(list));
    expect(writer.texts()).toBeGreaterThan(before);
  });
});
