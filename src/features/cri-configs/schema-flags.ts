import * as Flags from '@oclif/core/flags';

/** Summary of `create jsonschema` and `run jsonschema`. */
export const CONTAINER_SCHEMA_SUMMARY = 'Print the JSON schemas of the config files';

/** Description of `create jsonschema` and `run jsonschema`. */
export const CONTAINER_SCHEMA_DESCRIPTION =
  'Prints the schema of the container config, or of the pod config with --pod. With both flags, prints both.';

/** Flags of `create jsonschema` and `run jsonschema`. */
export const CONTAINER_SCHEMA_FLAGS = {
  pod: Flags.boolean({char: 'p', description: 'Print the schema of the pod config.'}),
  container: Flags.boolean({char: 'c', description: 'Print the schema of the container config.'}),
};
