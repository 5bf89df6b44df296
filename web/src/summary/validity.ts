// Whether figures may be used.

export type ValidityState = 'valid' | 'suspect' | 'void';

/** Why figures are suspect or void, and a remedy if there is one. */
export interface Reason {
  text: string;
  remedy: string | null;
  /** The figures that become doubtful. Absent in older files: then all of them. */
  concerns?: Concern;
}

export type Concern = 'everything' | 'throughput' | 'cpu_per_request' | 'latency';
