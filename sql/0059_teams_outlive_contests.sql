-- A team that has submitted stays when its contest is deleted, because its submissions stay (lib/account/team.h).
ALTER TABLE teams MODIFY contest_id BIGINT UNSIGNED NULL COMMENT 'NULL: the contest was deleted';
