import type {Command as OclifCommand} from '@oclif/core/command';
import type {Config} from '@oclif/core/interfaces';

/*
 * Replacement of the part of oclif that the commands use, for the bundle (scripts/bundle). oclif's classes and
 * functions declare the commands, but kcri's own code parses, runs and describes them. A test compares this module with
 * oclif.
 */

type Statics = Pick<typeof OclifCommand, 'id' | 'aliases' | 'args' | 'flags' | 'strict' | 'usage'>;

/** Replacement of oclif's Command that does not load all of oclif. */
export abstract class Command {
  static id: Statics['id'];
  static aliases: Statics['aliases'] = [];
  static args: Statics['args'] = {};
  static flags: Statics['flags'];
  static strict: Statics['strict'] = true;
  static usage: Statics['usage'];

  protected parsed = false;
  readonly argv: string[];
  readonly config: Config;
  readonly id: string | undefined;

  constructor(argv: string[], config: Config) {
    this.argv = argv;
    this.config = config;
    this.id = this.ctor.id;
  }

  protected get ctor(): typeof Command {
    return this.constructor as typeof Command;
  }

  abstract run(): Promise<unknown>;
}
