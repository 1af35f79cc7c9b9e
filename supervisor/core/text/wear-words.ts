// What owld says of a disk that fills up and of a database whose upkeep does not keep up. Pure.

import type { Catalogue } from "../../../config/text.ts";

export const wearWords = {
  filling: (path: string, days: number, free: string) => [
    `The disk of ${path} is full in ${days} ${days === 1 ? "day" : "days"} if it goes on like this (${free} are free). Free some space, or shorten retention in owl.yaml.`,
    `이대로면 ${path}의 디스크가 ${days}일 안에 가득 찹니다(${free} 남음). 공간을 비우거나 owl.yaml의 retention을 줄이십시오.`,
  ],
  deadRows: (table: string, dead: number, live: number) => [
    `The table ${table} holds ${dead} dead rows beside ${live} living ones: autovacuum does not keep up. Look for a transaction that never ends (pg_stat_activity), then: VACUUM ${table}`,
    `테이블 ${table}에 살아 있는 행 ${live}개와 죽은 행 ${dead}개가 있습니다. autovacuum이 따라가지 못합니다. 끝나지 않는 트랜잭션을 찾은(pg_stat_activity) 다음: VACUUM ${table}`,
  ],
  xids: (age: number) => [
    `The oldest transaction id is ${age} transactions old, and at 2.1 billion the database takes no more writes: autovacuum is held up. Look for a transaction or a replication slot that never ends, then: VACUUM FREEZE`,
    `가장 오래된 트랜잭션 번호가 ${age}만큼 지났고, 21억에 이르면 데이터베이스가 쓰기를 받지 않습니다. autovacuum이 막혀 있습니다. 끝나지 않는 트랜잭션이나 복제 슬롯을 찾은 다음: VACUUM FREEZE`,
  ],
  checksums: [
    "The database has no data checksums: a disk that returns wrong bytes goes unnoticed. Stop Owl, run pg_checksums --enable (PostgreSQL's own, same major version) on its data directory, start Owl.",
    "데이터베이스에 데이터 체크섬이 없어 디스크가 잘못된 내용을 돌려줘도 모릅니다. Owl을 멈추고 데이터 디렉터리에 (주 버전이 같은 PostgreSQL의) pg_checksums --enable을 실행한 뒤 Owl을 시작하십시오.",
  ],
} satisfies Catalogue;
