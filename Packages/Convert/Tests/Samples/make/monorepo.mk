# Everything in one place; each service has a makefile of its own.
SERVICES = auth billing search
REGISTRY = ghcr.io/acme

default: build

build: proto $(SERVICES)

proto:
	buf generate
	go mod tidy

auth billing search:
	$(MAKE) -C services/$@ build

test:
	cd services/auth && go test ./...
	cd services/billing && npm test
	cd services/search && cargo test

images: build
	for s in $(SERVICES); do docker build -t $(REGISTRY)/$$s services/$$s; done

up: ; docker compose up -d

down:
	-docker compose down --volumes
	@echo 'all is '"'down'"

seed: up
	@sleep 2; \
	psql "$${DATABASE_URL:-postgres://localhost/acme}" < db/seed.sql

release:: build
	git tag -a v$(V) -m "release $(V)"
release::
	git push --tags

.PHONY: default build proto auth billing search test images up down seed release
