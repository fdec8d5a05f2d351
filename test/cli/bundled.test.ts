import * as OclifArgs from '@oclif/core/args';
import {Command as OclifCommand} from '@oclif/core/command';
import {Config} from '@oclif/core/config';
import * as OclifFlags from '@oclif/core/flags';
import {describe, expect, test} from 'vitest';
import * as Args from '../../src/cli/bundled/args.js';
import {Command} from '../../src/cli/bundled/command.js';
import * as Flags from '../../src/cli/bundled/flags.js';

/** A definition as data: what its parser makes of a value in place of the parser. */
async function asData(definition: object): Promise<object> {
  const {parse} = definition as {parse: (value: unknown) => Promise<unknown>};
  return {...definition, parse: await parse('text')};
}

const OPTIONS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  {char: 'o', description: 'said', multiple: true, delimiter: ','},
  {multiple: false, required: true, default: 'x', parse: async () => 'parsed'},
];

describe("what stands in for oclif's definitions gives the same", () => {
  test.each(OPTIONS)('Flags.string(%j)', async (options) => {
    expect(await asData(Flags.string(options))).toEqual(await asData(OclifFlags.string(options)));
  });

  test.each(OPTIONS)('Flags.custom of its own defaults, with %j', async (options) => {
    const defaults: Readonly<Record<string, unknown>> = {
      multiple: true,
      parse: async (text: string) => `<${text}>`,
    };
    const oclifs = OclifFlags.custom(defaults)(options);
    expect(await asData(Flags.custom(defaults)(options))).toEqual(await asData(oclifs));
  });

  test.each([{}, {char: 'a', default: true, allowNo: true}] as const)(
    'Flags.boolean(%j)',
    async (options) => {
      expect(await asData(Flags.boolean(options))).toEqual(await asData(OclifFlags.boolean(options)));
    },
  );

  test.each(OPTIONS)('Args.string(%j)', async (options) => {
    expect(await asData(Args.string(options))).toEqual(await asData(OclifArgs.string(options)));
  });
});

describe("what stands in for oclif's Command", () => {
  class Ours extends Command {
    static override id = 'runtime:up';
    async run(): Promise<unknown> {
      return [this.argv, this.config, this.id, this.ctor === Ours, this.parsed];
    }
  }
  class Theirs extends OclifCommand {
    static override id = 'runtime:up';
    async run(): Promise<unknown> {
      return [this.argv, this.config, this.id, this.ctor === Theirs, this.parsed];
    }
  }

  test('is made and known as that is', async () => {
    const config = new Config({root: '.'});
    const [ours, theirs] = [new Ours(['-a'], config), new Theirs(['-a'], config)];
    expect(await ours.run()).toEqual(await theirs.run());
  });

  test('has the same defaults', () => {
    for (const name of ['id', 'aliases', 'args', 'flags', 'strict', 'usage'] as const)
      expect(Command[name], name).toEqual(OclifCommand[name]);
  });
});
