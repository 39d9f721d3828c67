import { Injectable } from '@nestjs/common';
import { UnitDesk } from '../../storage/units/unit-desk.js';

/**
 * Says in the database that this process lives. A process that hung and was replaced learns it from the answer, at the
 * latest here: without any call to record it would go on answering from a past that is over.
 */
@Injectable()
export class Ownership {
  constructor(private readonly desk: UnitDesk) {}

  /** @throws CountersignError `instance_taken_over` */
  async tick(): Promise<void> {
    const { instanceId, epoch } = this.desk.instance;
    await this.desk.commit(
      this.desk.beginInstallation('heartbeat').write({
        op: 'set',
        table: 'instances',
        where: { instance_id: instanceId, epoch, state: 'running' },
        set: { heartbeat_at: this.desk.now() },
        guard: 'instance',
      }),
    );
  }
}
