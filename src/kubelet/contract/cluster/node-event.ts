import type {FileLogger} from '../../../base/logger.js';

/** A Kubernetes event about the node, in the kubelet's wording. */
export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Logs an event about the node as the kubelet does (client-go's StartStructuredLogging). */
export function logNodeEvent(logger: FileLogger, nodeName: string, event: NodeEvent): void {
  const {type, reason, message} = event;
  const fields = {object: nodeName, fieldPath: '', kind: 'Node', apiVersion: 'v1', type, reason, message};
  logger.info('Event occurred', fields);
}
