import {expect, test} from 'vitest';
import {withErrorNames, withPlaces} from '../../scripts/bundle/kept-names.mjs';

test('each call of a log gets its place, and nothing else moves', () => {
  const source = [
    "logger.info('One');",
    '',
    "if (bad) this.#options.logger.error(error, 'Two'); else this.#logger.info('Three', {}, 4);",
    'const {logger} = options; console.info(logger); logger.flush();',
  ].join('\n');
  expect(withPlaces(source, 'kubelet/kubelet.ts').split('\n')).toEqual([
    `logger.at("kubelet/kubelet.ts:1").info('One');`,
    '',
    `if (bad) this.#options.logger.at("kubelet/kubelet.ts:3").error(error, 'Two'); else this.#logger.at("kubelet/kubelet.ts:3").info('Three', {}, 4);`,
    'const {logger} = options; console.info(logger); logger.flush();',
  ]);
});

test('classes of errors keep their names, others need none', () => {
  const source = [
    'export abstract class TwoError<T> extends KcriError {',
    '  readonly code = 1;',
    'class Three extends Base {',
    'const made = new (class extends Error {})();',
  ].join('\n');
  expect(withErrorNames(source).split('\n')).toEqual([
    'export abstract class TwoError<T> extends KcriError { static name = "TwoError";',
    '  readonly code = 1;',
    'class Three extends Base {',
    'const made = new (class extends Error {})();',
  ]);
});
