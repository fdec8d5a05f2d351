import {ContainerSchemaCommand} from '../../cli/container-schema-command.js';

export default class RunJsonschema extends ContainerSchemaCommand {
  static override usage = 'run jsonschema [OPTIONS]';
  static override examples = [
    '<%= config.bin %> run jsonschema > container-config.schema.json',
    '<%= config.bin %> run jsonschema --pod > pod-config.schema.json',
  ];
}
