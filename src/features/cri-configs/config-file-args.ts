import * as Args from '@oclif/core/args';

/** Arguments of `create` and `run` for the two config files. */
export const CONFIG_ARGS = {
  'container-config': Args.string({
    required: true,
    ignoreStdin: true,
    description: 'ContainerConfig file, as JSON or YAML; - reads it from standard input.',
  }),
  'pod-config': Args.string({
    required: true,
    ignoreStdin: true,
    description: 'PodSandboxConfig file, as JSON or YAML; - reads it from standard input.',
  }),
};
