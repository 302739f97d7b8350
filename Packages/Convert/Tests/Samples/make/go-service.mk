SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables

NAME    := ledger
VERSION := $(shell git describe --tags --always --dirty)
COMMIT  := $(shell git rev-parse --short HEAD)
LDFLAGS := -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)"
IMAGE   ?= registry.example.com/$(NAME)
GOFILES := $(shell find . -name '*.go' -not -path './vendor/*')

export CGO_ENABLED = 0
export GOFLAGS

.PHONY: build
build: ## Build the binary
	go build $(LDFLAGS) -o bin/$(NAME) ./cmd/$(NAME)

.PHONY: test
test: ## Run the unit tests
	go test -race -coverprofile=coverage.out ./...

.PHONY: cover
cover: test ## Open the coverage report
	go tool cover -html=coverage.out -o coverage.html

.PHONY: lint
lint: ## Run the linters
	golangci-lint run ./...
	@test -z "$$(gofmt -l $(GOFILES))" || (echo "run make fmt" && exit 1)

.PHONY: docker
docker: build ## Build the image
	docker build --build-arg VERSION=$(VERSION) -t $(IMAGE):$(VERSION) .

.PHONY: push
push: docker
	docker push $(IMAGE):$(VERSION)

.PHONY: run
run: build
	./bin/$(NAME) --config config/local.yml

.PHONY: migrate
migrate:
	@if [ -z "$(DATABASE_URL)" ]; then \
		echo "DATABASE_URL is not set"; \
		exit 1; \
	fi
	migrate -path migrations -database "$(DATABASE_URL)" up

.PHONY: help
help: ## Show this text
	@grep -E '^[a-zA-Z_-]+:.*?## .*$$' $(MAKEFILE_LIST) | awk 'BEGIN {FS = ":.*?## "}; {printf "%-12s %s\n", $$1, $$2}'
